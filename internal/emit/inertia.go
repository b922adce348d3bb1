package emit

// Inertia emits the inertia graph as a snapshot, which package inertia and its
// readers in other languages open.
var Inertia = Emitter{
	Name: EvidenceFolder + "inertia.awo",
	Doc:  "a snapshot that predicts the next call and its arguments",
	Emit: func(in Results) ([]File, error) {
		if in.Snapshot == nil {
			return nil, nil
		}
		return []File{{Name: EvidenceFolder + "inertia.awo", Data: in.Snapshot}}, nil
	},
}
