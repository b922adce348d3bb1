package world

import (
	"slices"
	"time"
)

func fileTools() []Tool {
	const domain = "files"
	return []Tool{
		login("files"),
		{
			Op: "files_list", App: "files", Doc: "List the files of a folder.",
			Params: []Param{token(), text("folder", "Name of the folder.")},
			Effect: Accessor, Latency: 170 * time.Millisecond,
			run: func(w *World, a Args) Result {
				var hits []Value
				for i := range w.Files {
					if f := &w.Files[i]; f.Folder == a.text("folder") {
						hits = append(hits, Obj(
							M("file_id", Str(f.ID)), M("name", Str(f.Name)), M("size", Int(len(f.Content)).As(DatumOf(f.ID, "size"))),
							M("modified", Str(f.Modified).As(DatumOf(f.ID, "modified"))), M("shared_with", f.shared()),
						))
					}
				}
				return Result{Value: Obj(M("files", List(hits...)))}
			},
		},
		{
			Op: "files_read", App: "files", Doc: "Read a file as plain text.",
			Params: []Param{token(), text("file_id", "Id of the file.")},
			Effect: Accessor, Latency: 210 * time.Millisecond,
			run: func(w *World, a Args) Result {
				f := w.file(a.text("file_id"))
				if f == nil {
					return Fail("files", "not_found", "no such file")
				}
				return Result{Value: Str(f.Content)}
			},
		},
		{
			Op: "files_write", App: "files", Doc: "Write a new file.",
			Params: []Param{token(), text("folder", "Name of the folder."), text("name", "Name of the file."), text("content", "Its text.")},
			Effect: Mutator, Domain: domain, Latency: 260 * time.Millisecond,
			run: func(w *World, a Args) Result {
				f := File{ID: w.newID("fil"), Folder: a.text("folder"), Name: a.text("name"), Content: a.text("content"), Modified: w.Today}
				w.Files = append(w.Files, f)
				return Result{Value: Obj(M("file_id", Str(f.ID)), M("name", Str(f.Name)))}
			},
		},
		{
			Op: "files_move", App: "files", Doc: "Move a file to another folder.",
			Params: []Param{token(), text("file_id", "Id of the file."), text("folder", "Where to.")},
			Effect: Mutator, Domain: domain, Idempotent: true, Latency: 160 * time.Millisecond,
			run: func(w *World, a Args) Result {
				f := w.file(a.text("file_id"))
				if f == nil {
					return Fail("files", "not_found", "no such file")
				}
				f.Folder = a.text("folder")
				return Result{Value: Obj(M("file_id", Str(f.ID)), M("folder", Str(f.Folder)))}
			},
		},
		{
			Op: "files_share", App: "files", Doc: "Share a file with a colleague.",
			Params: []Param{token(), text("file_id", "Id of the file."), text("email", "Address of the colleague.")},
			Effect: Mutator, Domain: domain, Idempotent: true, OpenWorld: true, Latency: 230 * time.Millisecond,
			run: func(w *World, a Args) Result {
				f := w.file(a.text("file_id"))
				if f == nil {
					return Fail("files", "not_found", "no such file")
				}
				if !slices.Contains(f.SharedWith, a.text("email")) {
					f.SharedWith = append(f.SharedWith, a.text("email"))
				}
				return Result{Value: Obj(M("file_id", Str(f.ID)), M("shared_with", f.shared()))}
			},
		},
	}
}

func (f *File) shared() Value {
	items := make([]Value, len(f.SharedWith))
	for i, s := range f.SharedWith {
		items[i] = Str(s)
	}
	return List(items...)
}
