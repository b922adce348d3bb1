package truth

import (
	"strings"
	"testing"
)

func example() *Trajectory {
	subject := Source{From: Result, Call: 3, Path: "subject"}
	return &Trajectory{Calls: []Call{
		{Tool: "show_passwords"},
		{Tool: "login", Args: map[string]Source{
			"password": {From: Result, Call: 0, Path: "[2].password", Key: "account_name", Is: "mail"},
			"username": {From: Task},
		}},
		{Tool: "search", Args: map[string]Source{
			"token": {From: Result, Call: 1, Path: "token"},
			"query": {From: User, Message: 1, Not: []Place{{Call: 0, Path: "[].hint"}}},
		}},
		{Tool: "read", Args: map[string]Source{
			"token": {From: Result, Call: 1, Path: "token"},
			"id":    {From: Result, Call: 2, Path: "messages[1].id", Told: true},
		}},
		{Tool: "send", Args: map[string]Source{
			"subject": {From: Template, Parts: []Part{{Text: "Re: "}, {Text: "Lunch", Source: &subject}}},
			"body":    {From: Model},
			"amount":  {From: Result, Call: 2, Path: "messages[0].amount", Not: []Place{{Call: 3, Path: "size"}}},
			"copies":  {From: Constant},
		}},
		{Tool: "send", Args: map[string]Source{
			"body":   {From: Model},
			"amount": {From: Result, Call: 2, Path: "messages[0].amount", Not: []Place{{Call: 3, Path: "size"}}},
			"other":  {From: Result, Call: 3, Path: "size", Not: []Place{{Call: 2, Path: "messages[].amount"}}},
		}},
	}}
}

func TestJudge(t *testing.T) {
	tr := example()
	tests := []struct {
		call  int
		arg   string
		claim Claim
		right bool
	}{
		{1, "password", Claim{From: Result, Call: 0, Path: "[2].password"}, true},
		{1, "password", Claim{From: Model}, false},
		{1, "password", Claim{From: Task}, false},
		{1, "username", Claim{From: Task}, true},
		{1, "username", Claim{From: Result, Call: 0, Path: "[0].user"}, true}, // an equal value that is no lookalike is a copy
		{2, "query", Claim{From: User}, true},
		{2, "query", Claim{From: Result, Call: 0, Path: "[4].hint"}, false},
		{3, "id", Claim{From: Task}, true}, // the user said it too
		{3, "token", Claim{From: Argument, Call: 2, Path: "token"}, true},
		{3, "token", Claim{From: Argument, Call: 9, Path: "token"}, false},
		{4, "subject", Claim{From: Result, Call: 3, Path: "subject"}, true},
		{4, "subject", Claim{From: Model}, false},
		{4, "body", Claim{From: Model}, true},
		{4, "body", Claim{From: Result, Call: 3, Path: "text"}, false},
		{4, "copies", Claim{From: Model}, true},
		{4, "copies", Claim{From: Task}, false},
		{4, "amount", Claim{From: Result, Call: 2, Path: "messages[].amount"}, true},
		{4, "amount", Claim{From: Result, Call: 3, Path: "size"}, false},
		{5, "body", Claim{From: Argument, Call: 4, Path: "body"}, true},
		{5, "amount", Claim{From: Argument, Call: 4, Path: "amount"}, true},
		{5, "other", Claim{From: Argument, Call: 4, Path: "amount"}, false},
		{5, "body", Claim{From: Argument, Call: 2, Path: "query"}, false},
		{5, "missing", Claim{From: Model}, false},
		{9, "body", Claim{From: Model}, false},
		{5, "body", Claim{From: "guess"}, false},
	}
	for _, test := range tests {
		if got := tr.Judge(test.call, test.arg, test.claim); got != test.right {
			t.Errorf("call %d %s, claim %+v: judged %v", test.call, test.arg, test.claim, got)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, s := range []string{"", "{", `{"schema":"awo.office-truth/v0"}`, `{"schema":"awo.office-truth/v1","surprise":1}`} {
		if _, err := Read(strings.NewReader(s)); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
	if _, err := Read(strings.NewReader(`{"schema":"awo.office-truth/v1"}`)); err != nil {
		t.Error(err)
	}
	if _, err := Open("no such file"); err == nil {
		t.Error("a file that is not there is opened")
	}
}
