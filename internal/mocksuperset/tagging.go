package mocksuperset

import "slices"

// Tags as they hang on objects. The kind of a tag is a number in answers.

var tagTypes = map[string]int{"custom": 1, "type": 2, "owner": 3, "favorited_by": 4}

// tagsOf gives the tags of an object, only those that people set when custom is true.
func (c *call) tagsOf(kind string, id int, custom bool) []any {
	out := []any{}
	for _, t := range c.st.tagRows(kind, id) {
		if !custom || t.str("type") == "custom" {
			out = append(out, obj{"id": t.id(), "name": t.str("name"), "type": tagTypes[t.str("type")]})
		}
	}
	return out
}

func (s *state) tagRows(kind string, id int) []row {
	var out []row
	for _, link := range s.where("tagged_object", "object_id", id) {
		if link.str("object_type") != kind {
			continue
		}
		if t := s.get("tag", link.int("tag_id")); t != nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b row) int { return a.id() - b.id() })
	return out
}

func (c *call) taggedLike(kind string, id int, value any) bool {
	text, isText := value.(string)
	if !isText || text == "" {
		return true
	}
	for _, t := range c.st.tagRows(kind, id) {
		if like(t.str("name"), "%"+text+"%") {
			return true
		}
	}
	return false
}

func (c *call) taggedWith(kind string, id int, value any) bool {
	n, _ := toInt(value)
	for _, t := range c.st.tagRows(kind, id) {
		if t.id() == n {
			return true
		}
	}
	return false
}

// tagAs hangs a tag on an object; the tag is made when it is missing.
func (c *call) tagAs(kind string, id int, tagType, name string) {
	if !c.s.features.tags {
		return
	}
	st := c.write()
	tag := st.find("tag", "name", name)
	if tag == nil {
		tag = st.insert("tag", row{"name": name, "type": tagType, "created_on": c.now(), "changed_on": c.now(),
			"created_by_fk": c.userID(), "changed_by_fk": c.userID()})
	}
	for _, link := range st.where("tagged_object", "tag_id", tag.id()) {
		if link.int("object_id") == id && link.str("object_type") == kind {
			return
		}
	}
	st.insert("tagged_object", row{"tag_id": tag.id(), "object_id": id, "object_type": kind, "created_on": c.now(),
		"changed_on": c.now(), "created_by_fk": c.userID(), "changed_by_fk": c.userID()})
}

// untag takes tags of a type off an object; keep says which stay.
func (c *call) untag(kind string, id int, keep func(tag row) bool) {
	st := c.write()
	for _, link := range st.where("tagged_object", "object_id", id) {
		if link.str("object_type") != kind {
			continue
		}
		if tag := st.get("tag", link.int("tag_id")); tag == nil || !keep(tag) {
			st.remove("tagged_object", link.id())
		}
	}
}

// tagSystem keeps the automatic tags of an object: what it is and who owns it.
func (c *call) tagSystem(kind string, id int, owners []int) {
	if !c.s.features.tags {
		return
	}
	names := map[string]bool{}
	for _, o := range owners {
		names["owner:"+itoa(o)] = true
	}
	c.untag(kind, id, func(t row) bool { return t.str("type") != "owner" || names[t.str("name")] })
	c.tagAs(kind, id, "type", "type:"+kind)
	for _, o := range owners {
		c.tagAs(kind, id, "owner", "owner:"+itoa(o))
	}
}

func (c *call) setCustomTags(kind string, id int, tags []int) {
	c.untag(kind, id, func(t row) bool { return t.str("type") != "custom" || containsInt(tags, t.id()) })
	for _, n := range tags {
		if t := c.st.get("tag", n); t != nil {
			c.tagAs(kind, id, t.str("type"), t.str("name"))
		}
	}
}
