// Package world is a toy office: a database of one employee's mail, calendar,
// files, payments, tickets and contacts, and the tools that an agent uses on it.
//
// In goes a seed; out come a World (tables of a few hundred records, built in
// microseconds) and an Edition (tool definitions with JSON Schemas and
// annotations, and Call, which runs a tool on a World). The same seed gives the
// same office, and a call's result depends on nothing but the office, the tool
// and its arguments. The package knows no agents, no traces and no formats.
//
// What is true of the tools (which write, which writes commute, which interact
// although they belong to different applications) is part of their definition
// here, and the tests hold it against the database.
package world
