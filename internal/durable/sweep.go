package durable

import (
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

const (
	sweepEvery = 10 * time.Minute
	// keep is how long a finished run is remembered. It only has to outlast a repeated Start; later the log says
	// that the run has ended.
	keep       = time.Hour
	sweepBatch = 500
)

// sweep forgets finished runs, so that the database does not grow with every message.
func (e *Engine) sweep() {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := e.forget(time.Now().Add(-keep)); err != nil && e.ctx.Err() == nil {
				e.logger.Warn("finished runs could not be forgotten", "error", err)
			}
		case <-e.ctx.Done():
			return
		}
	}
}

func (e *Engine) forget(before time.Time) error {
	for e.ctx.Err() == nil {
		done, err := dbos.ListWorkflows(e.dbos, dbos.WithFilterName(workflow), dbos.WithFilterStatus(dbos.WorkflowStatusSuccess),
			dbos.WithFilterCompletedBefore(before), dbos.WithFilterLimit(sweepBatch), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
		if err != nil || len(done) == 0 {
			return err
		}
		ids := make([]string, len(done))
		for i, w := range done {
			ids[i] = w.ID
		}
		if err := dbos.DeleteWorkflows(e.dbos, ids); err != nil {
			return err
		}
		if len(done) < sweepBatch {
			return nil
		}
	}
	return nil
}
