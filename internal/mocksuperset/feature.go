package mocksuperset

// features are the flags of an instance that the mock knows.
type features struct {
	reports bool // ALERT_REPORTS
	tags    bool // TAGGING_SYSTEM
}

func featuresOf(name string) features {
	return features{reports: name == "staging", tags: name != "prod"}
}
