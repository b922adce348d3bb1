package world

// words are what offices are made of. Everything is invented.
var words = struct {
	first, companies, vendors, topics, teams, folders []string
	fileKinds, titles, tickets, sentences, lines      []string
	rooms, starts, nameBegin, nameMiddle, nameEnd     []string
}{
	first: []string{
		"Ada", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Keiko", "Liam",
		"Mirela", "Noor", "Oskar", "Priya", "Quentin", "Rosa", "Stefan", "Tamar", "Ulla", "Viktor", "Wanda", "Xenia",
		"Yusuf", "Zoë", "Amadou", "Birgit", "Cosmo", "Delphine", "Emeka", "Fiona", "Gustav", "Hanna", "Ilse", "Javier",
	},
	// Family names are put together, so that two offices hardly share a person:
	// looking somebody up must not look as if the directory had changed.
	nameBegin: []string{
		"Ab", "Bel", "Cor", "Dra", "El", "Fen", "Gar", "Hol", "Ist", "Jar", "Kel", "Lor",
		"Mar", "Nor", "Ost", "Pel", "Quin", "Ros", "Sel", "Tor", "Ul", "Var", "Wel", "Zan",
	},
	nameMiddle: []string{"a", "e", "en", "i", "o", "ar", "el", "in", "or", "und"},
	nameEnd: []string{
		"berg", "den", "dorf", "feld", "gren", "holm", "kov", "lund", "mann", "nen", "quist", "ric", "sen", "ska", "son", "vic", "wick", "zzi",
	},
	companies: []string{
		"northlight", "harrowgate", "bluefern", "castlerock", "everfield", "graystone", "hollowbrook", "ironwood",
		"juniper", "kingsmere", "lakeshore", "marlowe",
	},
	vendors: []string{
		"Kestrel Paper", "Brightwater Cleaning", "Osprey Couriers", "Fennel Catering", "Tallow & Sons", "Ridgeline Print",
		"Cobalt Hosting", "Meridian Power", "Larkspur Florists", "Anvil Hardware", "Saffron Travel", "Quarry Stone",
		"Beacon Insurance", "Driftwood Furniture", "Halcyon Telecom", "Pinnacle Legal", "Thistle Water", "Umber Coffee",
		"Vesper Security", "Willow Training", "Copperfield Audio", "Glacier Cooling", "Mosaic Design", "Juniper Parking",
	},
	topics: []string{
		"migration", "budget", "offsite", "rebranding", "audit", "onboarding", "newsletter", "relocation",
		"warranty", "recruiting", "inventory", "sponsorship", "telemetry", "translation", "accessibility", "retention",
	},
	teams:   []string{"Finance", "Design", "Operations", "Legal", "Platform", "Support"},
	folders: []string{"reports", "contracts", "travel", "handbook", "invoices-2026", "minutes", "campaigns", "policies"},
	fileKinds: []string{
		"summary", "draft", "notes", "plan", "checklist", "figures", "review", "proposal", "agenda", "appendix",
	},
	titles: []string{
		"Design review", "Weekly sync", "Budget round", "Hiring panel", "Vendor call", "Retrospective", "Planning",
		"One to one", "Roadmap check", "Launch rehearsal", "Security drill", "Press briefing", "Handover", "Office hours",
	},
	tickets: []string{
		"Printer on floor %d jams", "Badge does not open door %d", "VPN drops every %d minutes", "Monitor %d flickers",
		"Licence seat %d expired", "Cannot open share %d", "Projector in room %d is dark", "Phone line %d is dead",
		"Invoice export %d fails", "Laptop battery swells (unit %d)", "Shared mailbox %d rejects mail", "Chair %d is broken",
	},
	sentences: []string{
		"Could you look at the figures before Thursday?", "The second page still needs your comments.",
		"I moved the deadline by a week, see below.", "Everything else stays as agreed.",
		"Please tell me if the numbers differ from yours.", "The supplier asked for one more signature.",
		"We keep the old plan until the board has decided.", "I attached nothing on purpose: it is all in the folder.",
		"Two of the five items are done.", "The cost is slightly above what we said in January.",
		"Legal has no objection.", "Let us talk about it on Monday.", "I would rather wait for the survey.",
		"The room is booked for the whole afternoon.", "Thanks for the quick answer yesterday.",
	},
	lines: []string{
		"Open points are listed at the end.", "Figures are preliminary.", "Owner: see the cover sheet.",
		"Approved with two remarks.", "Next revision in four weeks.", "Superseded parts are struck through.",
		"Costs rose by a tenth.", "No change since the last version.", "Risks: staffing, delivery times.",
		"The annex holds the raw data.", "Reviewed by two people.", "Scope is unchanged.",
	},
	// Rooms and starts are pools from which both the office and the tasks draw:
	// equal values in both mean nothing.
	rooms: []string{"A-101", "A-214", "B-007", "B-112", "C-003", "C-118", "D-015", "D-301"},
	starts: []string{
		"08:30", "09:00", "09:30", "10:30", "11:00", "11:30", "13:00", "13:30", "14:00", "15:00", "15:30", "16:30",
	},
}

// Rooms returns the rooms of every office.
func Rooms() []string { return append([]string(nil), words.rooms...) }

// Starts returns the times of day at which meetings begin.
func Starts() []string { return append([]string(nil), words.starts...) }

// Titles returns what meetings are called.
func Titles() []string { return append([]string(nil), words.titles...) }
