// Package docs holds the pages that the program prints.
package docs

import _ "embed"

// Skill tells a coding agent how to investigate traces.
//
//go:embed SKILL.md
var Skill string
