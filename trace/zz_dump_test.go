package trace
import ("os";"strings";"testing";"fmt";"path/filepath")
func TestZZ(t *testing.T){ for _, f := range platformFormats { ps,_:=filepath.Glob("testdata/"+f.Name+"/*.json*"); for _,p:=range ps { fmt.Println("=====",p); fmt.Print(depictAll(readFile(t,p,f.Name,Options{}))) } } }
func TestZZWant(t *testing.T){ for _, f := range platformFormats { ps,_:=filepath.Glob("testdata/"+f.Name+"/*.json*"); for _,p:=range ps { os.WriteFile(strings.TrimSuffix(p,filepath.Ext(p))+".want", []byte(depictAll(readFile(t,p,f.Name,Options{}))),0o644) } } }
