% wrong = [problem["message"] for problem in problems if problem.get("path") == "type"]
<fieldset id="type">
<legend>Type</legend>
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% for type in types:
<div class="check">
<input type="radio" id="type-{{type['id']}}" name="type" value="{{type['id']}}" aria-describedby="type-{{type['id']}}-hint" {{"checked" if type["id"] == chosen else ""}}>
<label for="type-{{type['id']}}">{{type["name"]}}</label>
<span class="hint" id="type-{{type['id']}}-hint">{{type["description"]}}{{" Expected to live %d days." % type["lifetime_days"] if type["lifetime_days"] else ""}}</span>
</div>
% end
</fieldset>
