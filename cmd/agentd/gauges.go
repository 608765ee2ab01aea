package main

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// countEvery is how old the numbers of a scrape may be: counting results reads the whole log.
const countEvery = 5 * time.Minute

// gauges gives the numbers of the diagnostics to /metrics. While they cannot be counted there are none.
type gauges struct {
	count func(context.Context) (memory, error)

	mu    sync.Mutex // guards what follows; a scrape waits for the count of another
	last  memory
	until time.Time
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("agentd_"+name, help, labels, nil)
}

var (
	resultsGauge    = gauge("results", "Results of calls in histories.")
	charactersGauge = gauge("result_characters", "Characters of the results in histories.")
	largestGauge    = gauge("result_characters_largest", "Characters of the largest result in histories.")
	overGauge       = gauge("results_over_budget", "Results over their budget. Must be 0.")
	artifactsGauge  = gauge("artifacts", "Stored results.", "state")
	bytesGauge      = gauge("artifact_bytes", "Bytes of stored results.", "state")
	usedGauge       = gauge("artifact_quota_used_bytes", "Bytes that count against the quotas.")
	quotaGauge      = gauge("artifact_quota_bytes", "The quota of all together; 0 is no limit.")
)

// measure registers the gauges, and those of the process itself: goroutines and heap.
func (a *app) measure(r *prometheus.Registry) {
	r.MustRegister(&gauges{count: a.remember}, collectors.NewGoCollector())
}

func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{resultsGauge, charactersGauge, largestGauge, overGauge, artifactsGauge, bytesGauge, usedGauge, quotaGauge} {
		out <- d
	}
}

func (g *gauges) Collect(out chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Now().After(g.until) {
		m, err := g.count(context.Background())
		if err != nil {
			return
		}
		g.last, g.until = m, time.Now().Add(countEvery)
	}
	say := func(d *prometheus.Desc, n int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	m := g.last
	say(resultsGauge, int64(m.Results.Count))
	say(charactersGauge, int64(m.Results.Characters))
	say(largestGauge, int64(m.Results.Largest))
	say(overGauge, int64(m.Results.OverBudget))
	for _, a := range m.Artifacts {
		say(artifactsGauge, int64(a.Count), string(a.State))
		say(bytesGauge, a.Bytes, string(a.State))
	}
	say(usedGauge, m.Used)
	say(quotaGauge, m.Quota.Total)
}
