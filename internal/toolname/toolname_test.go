package toolname

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
)

func TestOf(t *testing.T) {
	for want, names := range map[Effect][]string{
		Reads: {
			// The verb first, in every way of writing names.
			"get_user", "getUser", "GetUser", "get-user", "GET_flights", "get user", "GetURLContent", "getHTTPStatus", "get2users", "find",
			"list-orders", "search_flights", "show_cancellation_policy", "view_itinerary", "check_availability", "read", "Grep", "LS", "lookup_rate", "look_up_rate",
			"is_available", "query_inventory", "calculate", "count_rows", "describe_table", "retrieve_order", "inspect_element", "fetch_base64",
			// Nouns that are verbs elsewhere.
			"get_order_details", "find_order", "search_comment", "list_schedule", "get_exchange_rate", "list_updates", "get_deleted_items", "view_refund_status",
			// Namespaces, servers, paths.
			"mcp__github__list_issues", "mcp__update_center__get_version", "mcp__github__get-issue", "crm.search_leads", "filesystem/read_file", "mail__read", "orders.list",
			"server:get_status", "book/search", "GET /me/albums", "HEAD /status", "github_get_issue", "calendar_find_slot", "american_find_my_bags", "WebFetch", "URLFetch",
			"find_and_show_user", "get_or_fetch",
		},
		Writes: {
			"delete_user", "createUser", "UpdateUser", "remove-item", "cancel_show_booking", "delete_list", "find_and_delete_user", "findAndDeleteUser", "getOrCreateUser",
			"get_or_create_user", "search_replace", "status_update", "update_status", "list_delete", "users.delete", "delete.user", "user/delete", "mcp__db__list_and_drop",
			"get2delete", "checkAndCancel", "update_view", "DELETE /me/albums", "POST /search", "PUT /me/player/play", "GET /cart/add", "mail_login", "HTTPDelete",
			"order_pizza", "book_flight", "post_comment", "search_and_book", "find_then_order", "mark_as_read", "set_read_only", "return_delivered_order_items",
			"TodoWrite", "agent.react.start-4", "löschen_delete", "mcp__delete",
		},
		Unknown: {
			"", "_", "__", "___", "mcp__", "spotify", "getter", "readjust_price", "listen_to", "expire_list", "frobnicate_list", "flash_view", "expire_read_tokens",
			"user_list", "flight_search", "WebSearch", "order_search", "book_search", "search_book", "get_change_history", "sequentialthinking", "think",
			"check_in", "check_out_passenger", "list_on_market", "head_to_kitchen", "run_query", "query_sql", "get_shell_output", "and", "get_and", "or_get", "get_or_frobnicate",
			"deleteuser", "getuser", "obtener_usuario", "benutzer_löschen", "buscar", "获取用户", "получить", "get_пользователь", "find_and_dеlete", // the last with a Cyrillic е
			"TRACE /me", "1_hour_forecast", "get.user",
		},
	} {
		for _, name := range names {
			if got := Of(name); got != want {
				t.Errorf("%q %v, want %v", name, got, want)
			}
		}
	}
}

// TestNames: other names tell what stands in front of verbs.
func TestNames(t *testing.T) {
	var n Names
	for _, name := range []string{
		"mail_list", "mail_send", "expire_list", "expire_view", "core_memory_list_keys", "core_memory_retrieve", "account_show", "account_show_all", "list_delete", "list_get",
	} {
		n.Add(name)
	}
	for name, want := range map[string]Effect{
		"mail_list": Reads, "mailSearch": Reads, "mail_send": Writes, "mail_book": Writes, "mail_frobnicate": Unknown, "mail": Unknown, "mail_box_list": Unknown,
		"core_memory_list_keys": Reads, "core_list": Unknown, "expire_list": Unknown, "expire_view": Unknown, "account_show": Unknown, "list_delete": Writes,
		"mail_list_and_delete": Writes, "mail_check_out": Unknown,
	} {
		if got := n.Of(name); got != want {
			t.Errorf("%q %v, want %v", name, got, want)
		}
	}
}

// TestDecide gives every combination of what rules, annotations and names say.
func TestDecide(t *testing.T) {
	names := map[Effect]string{Unknown: "frobnicate", Reads: "get_user", Writes: "delete_user"}
	for _, rule := range []Effect{Unknown, Reads, Writes} {
		for _, annotation := range []Effect{Unknown, Reads, Writes} {
			for said, name := range names {
				want, basis := said, Name
				switch {
				case rule != Unknown:
					want, basis = rule, Rule
				case annotation != Unknown:
					want, basis = annotation, Annotation
				case said == Unknown:
					basis = NoBasis
				}
				if e, b := Decide(rule, annotation, name); e != want || b != basis {
					t.Errorf("rule %v, annotation %v, %s: %v by %q, want %v by %q", rule, annotation, name, e, b, want, basis)
				}
			}
		}
	}
	if e, b := Decide(Unknown, Unknown, ""); e != Unknown || b != NoBasis {
		t.Errorf("nothing says anything: %v by %q", e, b)
	}
}

func TestAnnotated(t *testing.T) {
	for src, want := range map[string]Effect{
		`{"readOnlyHint":true}`: Reads, `{"readOnlyHint":false}`: Writes, `{"readOnlyHint":"true"}`: Unknown, `{"destructiveHint":false}`: Unknown, `[]`: Unknown, `null`: Unknown,
	} {
		v, err := trace.ParseValue([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if got := Annotated(v); got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"get_user": "get user", "getUser": "get user", "GetUser": "get user", "GETUser": "get user", "URLFetch": "url fetch", "fetchURL": "fetch url", "a1B2": "a 1 b 2",
		"": "", "--": "", "mcp__a-b__c.d": "mcp a b c d", "straßeÖffnen": "straße öffnen", "HTTP2Server": "http 2 server",
	} {
		if got := strings.Join(Words(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNotes(t *testing.T) {
	for name, want := range map[string]bool{"think": true, "take_thought": true, "get_plan": false, "delete_note": false, "sequentialthinking": false, "user_note": true} {
		if got := Notes(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// TestWritingWordWins: whatever surrounds a writing word, the name never reads.
func TestWritingWordWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(fetching, looking, nounOrWriting, joining, []string{"user", "x", "2"})), 0, 5).Draw(t, "words")
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		words = slices.Insert(words, at, rapid.SampledFrom(writing).Draw(t, "writing"))
		separator := rapid.SampledFrom([]string{"_", "-", ".", "/", " ", "__", ":"}).Draw(t, "separator")
		if name := strings.Join(words, separator); Of(name) != Writes {
			t.Fatalf("%q %v", name, Of(name))
		}
		var camel strings.Builder
		for i, w := range words {
			if i > 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			camel.WriteString(w)
		}
		if name := camel.String(); Of(name) != Writes {
			t.Fatalf("%q %v", name, Of(name))
		}
	})
}

// TestLists: no word is in two lists that contradict each other.
func TestLists(t *testing.T) {
	lists := map[string][]string{"fetching": fetching, "looking": looking, "turning": turning, "joining": joining, "writing": writing, "doubtful": doubtful, "nounOrWriting": nounOrWriting, "noting": noting}
	for a, words := range lists {
		if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Errorf("%s is not sorted, or has a word twice", a)
		}
		for b, others := range lists {
			if a >= b || a == "doubtful" && b == "nounOrWriting" {
				continue
			}
			for _, w := range words {
				if slices.Contains(others, w) {
					t.Errorf("%q is in %s and in %s", w, a, b)
				}
			}
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, name := range []string{"get_user", "mcp__a__b", "GET /a", "__", "aB", "\xff_get", "ÄrgerGet"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		Of(name)
		for _, w := range Words(name) {
			if w == "" || utf8.ValidString(name) && strings.ContainsAny(w, "_-./: ") {
				t.Errorf("%q: word %q", name, w)
			}
		}
	})
}
