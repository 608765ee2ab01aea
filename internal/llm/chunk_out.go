package llm

// The chunks of a normalised stream: no more than langchaingo reads.
type (
	chunkOut struct {
		Choices []choiceOut `json:"choices"`
		Usage   *usageOut   `json:"usage,omitempty"`
	}
	choiceOut struct {
		Index  int      `json:"index"`
		Delta  deltaOut `json:"delta"`
		Finish *string  `json:"finish_reason"`
	}
	deltaOut struct {
		Content string    `json:"content,omitempty"`
		Calls   []callOut `json:"tool_calls,omitempty"`
	}
	callOut struct {
		Index    int         `json:"index"`
		ID       string      `json:"id,omitempty"`
		Type     string      `json:"type,omitempty"` // with the first part of a call only: langchaingo starts a call with it
		Function functionOut `json:"function"`
	}
	functionOut struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	}
	usageOut struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
)
