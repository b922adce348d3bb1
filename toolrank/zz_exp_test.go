package toolrank
import ("testing")
func TestExp(t *testing.T) {
	c := NewCorpus(readCatalog(t, "livemcp/tools.json"), recordedTasks(t, "livemcp/tasks.jsonl"), nil)
	for seed := range uint64(4) {
		s := c.Study(Options{Seed: seed})
		t.Logf("seed %d r@10 %.3f recall %.3f K %v base %+v", seed, s.At10.Mean, s.Recall.Mean, s.FoldK, s.Baselines[0])
	}
}
