package jsonscan_test

import (
	"fmt"

	"github.com/awo-dev/awo/internal/jsonscan"
)

func ExampleCursor() {
	text := []byte(`{"id": 7, "calls": [{"name": "book", "arguments": {"seat": "12A"}}, {"name": "pay"}]}`)
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "calls" {
			continue // the next Member passes over the value
		}
		for ok := c.Array(); ok && c.Element(); {
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "name":
					name, _ := c.Text()
					fmt.Printf("%s\n", name)
				case "arguments":
					fmt.Printf("%s\n", c.Raw())
				}
			}
		}
	}
	fmt.Println(c.End())

	broken := jsonscan.New([]byte(`{"id": 07}`))
	fmt.Println(broken.End())
	// Output:
	// book
	// {"seat": "12A"}
	// pay
	// <nil>
	// json-number: a number has no leading zero
}
