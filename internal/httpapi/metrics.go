package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts requests. The zero value, without a registry, counts nothing.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
}

func newMetrics(r *prometheus.Registry, runs func() int) *metrics {
	if r == nil {
		return &metrics{}
	}
	m := &metrics{
		registry: r,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "agentd_http_requests_total", Help: "Requests that were answered."}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "agentd_http_request_seconds", Help: "Time until a request was answered; streams count in agentd_streams.",
			Buckets: []float64{.005, .02, .1, .5, 2, 10}}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "agentd_http_requests", Help: "Requests that are being answered, streams among them."}),
		streams:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "agentd_streams", Help: "Event streams that are open."}),
	}
	r.MustRegister(m.requests, m.seconds, m.inFlight, m.streams)
	if runs != nil {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "agentd_runs", Help: "Runs that are worked on by this process."},
			func() float64 { return float64(runs()) }))
	}
	return m
}

// began counts a request in; what it returns counts it out.
func (m *metrics) began() func(method, route string, status int, took time.Duration) {
	if m.registry == nil {
		return func(string, string, int, time.Duration) {}
	}
	m.inFlight.Inc()
	return func(method, route string, status int, took time.Duration) {
		m.inFlight.Dec()
		m.requests.WithLabelValues(known(method), route, strconv.Itoa(status)).Inc()
		if route != eventsPath {
			m.seconds.WithLabelValues(route).Observe(took.Seconds())
		}
	}
}

// stream counts an open stream until the returned function is called.
func (m *metrics) stream() func() {
	if m.registry == nil {
		return func() {}
	}
	m.streams.Inc()
	return m.streams.Dec
}

// known keeps invented methods from making a time series each.
func known(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

func (a *API) showMetrics(c *call) error {
	promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())
	return nil
}
