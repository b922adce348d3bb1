package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// hostileNames are names that mean something to Markdown or to a browser.
var hostileNames = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<!-- x", "<?x", "<![CDATA[x",
	"[click](http://evil.example)", "![x](http://evil.example/x.png)", "[a]: http://evil.example", "<http://evil.example>",
	"http://evil.example/a", "www.evil.example", "mailto:a@b.example", "a@b.example", "ftp://evil.example",
	"tool|<i>pipe</i>|x", `a\|<script>x</script>`, `a\\|<b>`, "``<script>``", "|`<script>|`", "`", "``", `x\` + "`<script>y</script>`",
	"&lt;script&gt;", "&#60;script&#62;", "# x", "- x", "1. x", "> x", "~~x~~", "***x***", "---", "| a | b |", "\t<script>", "c\x9b31mred", " x ",
}

// active is what of a Markdown text is more than text, by a reader of CommonMark with
// GitHub's extensions, and how many cells its tables have.
func active(markdown []byte) (found []string, cells int, err error) {
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(markdown))
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			if html := string(n.Segments.Value(markdown)); html != "<!-- -->" { // it takes a mention apart
				found = append(found, html)
			}
		case *ast.HTMLBlock, *ast.Link, *ast.Image, *ast.AutoLink, *extended.Strikethrough, *ast.Blockquote:
			found = append(found, n.Kind().String())
		case *extended.TableCell:
			cells++
		}
		return ast.WalkContinue, nil
	})
	return found, cells, err
}

// everywhere writes a name wherever a document can have one, with nine cells of a table.
func everywhere(name string) ([]byte, error) {
	d := &Document{Title: name}
	d.Add(Paragraph("Of "+name+" and "+name+": "+name), Paragraph(name), List{name, "of " + name})
	table := NewTable("t", name, Column{Key: "a", Title: name}, Column{Key: "b"}, Column{Key: "c"})
	table.Add(Name(name), Text(name), Name(name+" → "+name))
	table.Add(Text("x"), Name("plain"), Text("of "+name))
	table.Note("%s", name)
	d.Add(table)
	d.Section(name, Code{Text: name})
	var b bytes.Buffer
	err := d.Write(&b, FormatMarkdown, Options{})
	return b.Bytes(), err
}

func TestMarkdownIsInert(t *testing.T) {
	check := func(fail func(format string, args ...any), name string) {
		written, err := everywhere(name)
		if err != nil {
			fail("%q: %v", name, err)
			return
		}
		found, cells, err := active(written)
		if err != nil || len(found) > 0 || cells != 9 {
			fail("of %q this acts: %q, and the table has %d cells of 9 (%v)\n%s", name, found, cells, err, written)
		}
	}
	for _, name := range hostileNames {
		check(t.Errorf, name)
	}
	signs := strings.Split("| \\ ` < > [ ] ( ) ! & ; a _ * ~ $ @ : / . # -", " ")
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(append(signs, append(hostileNames, " ")...)), 0, 8).Draw(t, "pieces")
		check(t.Fatalf, strings.Join(pieces, ""))
	})
}

// TestActiveFinds: the reader that finds nothing above would find what is there.
func TestActiveFinds(t *testing.T) {
	for _, text := range []string{"a <b>x</b>", "<script>\n", "[a](http://e.org)", "![a](b)", "http://e.org", "| a |\n|---|\n| <i>x</i> |\n"} {
		if found, _, err := active([]byte(text)); err != nil || len(found) == 0 {
			t.Errorf("in %q nothing is found (%v)", text, err)
		}
	}
}
