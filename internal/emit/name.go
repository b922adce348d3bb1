package emit

import (
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/diag"
)

// CodeName is the code of problems with the name of an artefact.
const CodeName = "output-name"

// checkNames refuses names that lead out of the folder or that some system
// cannot hold: artefacts are kept in repositories that others check out.
func checkNames(files []File) error {
	seen := map[string]bool{} // files; false: folders
	for _, f := range files {
		if why := badName(f.Name); why != "" {
			return diag.New(diag.Pos{}, CodeName, "an artefact cannot be called %q: %s", f.Name, why)
		}
		folded := strings.ToLower(f.Name)
		if _, ok := seen[folded]; ok {
			return diag.New(diag.Pos{}, CodeName, "two artefacts would be called %q", f.Name)
		}
		seen[folded] = true
		for folder := path.Dir(folded); folder != "."; folder = path.Dir(folder) {
			if seen[folder] {
				return diag.New(diag.Pos{}, CodeName, "%q would be a file and a folder", folder)
			}
			seen[folder] = false
		}
	}
	return nil
}

// badName returns why name is no name for an artefact, "" if it is one.
func badName(name string) string {
	if !fs.ValidPath(name) || name == "." {
		return "it is not a plain path inside the folder"
	}
	if i := strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r) || strings.ContainsRune(`<>:"|?*\`, r)
	}); i >= 0 {
		return "it holds a character that not every file system takes"
	}
	for element := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(strings.ToLower(element), ".")
		switch {
		case strings.HasPrefix(element, ".") && name != EvidenceFolder+".gitignore":
			return "a part of it begins with a dot"
		case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " ") || strings.HasPrefix(element, " "):
			return "a part of it ends with a dot or has a space at its end"
		case len(element) > 200:
			return "a part of it is longer than 200 bytes"
		case reserved[stem]:
			return "some systems reserve a part of it for a device"
		}
	}
	return ""
}

// reserved are the names that Windows keeps for devices, whatever follows the
// first dot.
var reserved = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}
