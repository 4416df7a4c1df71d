// Names that are remembered for some time.
package main

import "time"

// memory has names and times, and their order.
type memory struct {
	at    map[string]float64
	order []string
}

func now() float64 { return float64(time.Now().UnixMilli()) / 1000 }

// add remembers a name.
func (memory *memory) add(name string, moment float64) {
	if memory.at == nil {
		memory.at = map[string]float64{}
	}
	memory.at[name], memory.order = moment, append(memory.order, name)
}

// forget deletes entries older than life seconds, and returns their names.
func (memory *memory) forget(life float64) (dropped []string) {
	for len(memory.order) > 0 && memory.at[memory.order[0]] < now()-life {
		delete(memory.at, memory.order[0])
		dropped, memory.order = append(dropped, memory.order[0]), memory.order[1:]
	}
	return dropped
}
