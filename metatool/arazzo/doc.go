// Package arazzo writes meta-tools as an Arazzo description, and reads it back.
//
// [Append] makes of meta-tools one document of the Arazzo Specification 1.1:
// each is a workflow, its steps call operations of a companion OpenAPI
// description that [OpenAPI] makes of the tools' definitions. What Arazzo has a
// word for is said in that word: JSON Schemas of inputs, JSONPath selectors on
// earlier results, success criteria. What it has none for is in extensions that
// begin with x-awo-, and a reader that skips them knows that it cannot run the
// step. [Parse] gives the same meta-tools back, or every problem with its
// position.
//
// Memory is that of the document. The package runs nothing, and reads no
// Arazzo beyond what Append writes.
package arazzo
