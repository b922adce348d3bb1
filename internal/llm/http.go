package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Server is a model behind an OpenAI-compatible interface.
type Server struct {
	URL     string        // of the interface, such as https://api.example/v1
	Name    string        // of the model; "" lets the server choose
	Key     string        // sent as a bearer token; "" for none
	Seed    uint64        // sent along; servers that honour it answer alike
	Timeout time.Duration // of one answer; 0 means DefaultTimeout
	Retries int           // of answers with status 429 or 5xx
	Wait    time.Duration // before the first retry, twice that before the next; 0 means a second
}

// Endpoint returns the address that is asked. A key is sent over TLS, or to this
// machine.
func (s *Server) Endpoint() (string, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no address of a model, such as http://localhost:8000/v1", s.URL)
	}
	if u.User != nil {
		return "", errors.New("an address holds no user and password: the key comes from the environment")
	}
	local := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
	if s.Key != "" && u.Scheme == "http" && !local {
		return "", fmt.Errorf("a key is not sent to %s without TLS: use https", u.Host)
	}
	if !strings.HasSuffix(u.Path, "/chat/completions") {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/chat/completions"
	}
	return u.String(), nil
}

// request and response are the parts of the interface that are used.
type request struct {
	Model       string    `json:"model,omitempty"`
	Messages    []Message `json:"messages"`
	Temperature float64   `json:"temperature"`
	Seed        uint64    `json:"seed"`
}

type response struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Ask sends the messages and returns the first choice.
func (s *Server) Ask(ctx context.Context, messages []Message) (Answer, error) {
	endpoint, err := s.Endpoint()
	if err != nil {
		return Answer{}, err
	}
	body, err := json.Marshal(request{Model: s.Name, Messages: messages, Seed: s.Seed})
	if err != nil {
		return Answer{}, err
	}
	wait := s.Wait
	if wait <= 0 {
		wait = time.Second
	}
	for try := 0; ; try++ {
		answer, err := s.post(ctx, endpoint, body)
		var status *statusError
		again := errors.As(err, &status) && (status.status == http.StatusTooManyRequests || status.status >= 500)
		if !again || try >= s.Retries {
			return counted(answer, messages), err
		}
		select {
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		case <-time.After(wait << try):
		}
	}
}

func (s *Server) post(ctx context.Context, endpoint string, body []byte) (Answer, error) {
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	// A redirect would take the prompt, and the key, to somebody else.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("the model cannot be asked: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("the answer breaks off: %w", err)
	case len(data) > maxAnswer:
		return Answer{}, errTooLong
	}
	var r response
	parseErr := json.Unmarshal(data, &r)
	if resp.StatusCode != http.StatusOK {
		return Answer{}, &statusError{resp.StatusCode, shorten(r.Error.Message)}
	}
	if parseErr != nil {
		return Answer{}, errors.New("the answer is no JSON of a chat completion")
	}
	if len(r.Choices) == 0 {
		return Answer{}, errors.New("the answer has no choice")
	}
	return Answer{Text: r.Choices[0].Message.Content, InputTokens: r.Usage.Input, OutputTokens: r.Usage.Output}, nil
}

// shorten cuts a text of others for a message.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return text
}
