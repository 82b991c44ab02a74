package pool

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A pool of workers with generics, channels and a select.
type Number interface {
	~int | ~int64 | ~float64
}

type Job[T any] func(context.Context) (T, error)

type Pool[T any] struct {
	sync.Mutex
	jobs    chan Job[T]
	results chan T
	once    sync.Once
	done    <-chan struct{}
}

var ErrClosed = errors.New(`pool: "closed"`)

func Sum[N Number](values ...N) (total N) {
	for i := 0; i < len(values); i++ {
		total += values[i]
	}
	return
}

func New[T any](ctx context.Context, workers uint8) *Pool[T] {
	pool := Pool[T]{jobs: make(chan Job[T], workers<<1), results: make(chan T), done: ctx.Done()}
	var group sync.WaitGroup
	for ; workers > 0; workers-- {
		group.Add(1)
		go func() {
			defer group.Done()
			pool.work(ctx)
		}()
	}
	go func() { group.Wait(); close(pool.results) }()
	return &pool
}

func (p *Pool[T]) work(ctx context.Context) {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
loop:
	for {
		select {
		case <-p.done:
			break loop
		case job, ok := <-p.jobs:
			if !ok {
				return
			}
			if value, err := job(ctx); err == nil {
				p.results <- value
			}
		case <-ticker.C:
			continue loop
		}
	}
}

func (p *Pool[T]) Submit(job Job[T]) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = ErrClosed
		}
	}()
	p.jobs <- job
	return nil
}

func kind(value interface{}) rune {
	switch v := value.(type) {
	case nil:
		return '0'
	case int, uint:
		return 'i'
	case string:
		return rune(v[0]) &^ 0x20
	default:
		fallthrough_ := '?'
		return fallthrough_
	}
}
