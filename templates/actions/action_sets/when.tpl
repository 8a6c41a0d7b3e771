<fieldset id="when">
<legend>When this</legend>
% gone = [(values.source, "a deleted endpoint")] if values.source and values.source not in dict(endpoints) else []
<div class="actions">
% include("partials/select.tpl", name="source", label="Signal endpoint that receives a signal", value=values.source, choices=[("", "choose …"), *endpoints, *gone])
<button class="quiet" name="do" value="look" formaction="{{action}}#when" formnovalidate>Show its last signal</button>
</div>
% if not endpoints:
<p class="hint">There is none yet: <a href="{{url('/admin/signals/new')}}">create a signal endpoint</a>.</p>
% end
% if payload:
<details id="last" {{"open" if not values.filters else ""}}>
<summary>\\
% if last_at:
Last signal: {{readable(last_at)}}\\
% else:
Sample of the recipe: no signal was received yet\\
% end
</summary>
<pre><code>{{payload}}</code></pre>
</details>
<details id="paths">
<summary>Paths in it, for the filters</summary>
<dl class="paths">
% for text, shown in paths:
<div><dt><code>{{text}}</code></dt><dd><bdi>{{shown}}</bdi></dd></div>
% end
</dl>
</details>
% elif values.source:
<p class="hint">No signal was received there yet; filters can be written all the same.</p>
% end
<datalist id="suggested">
% for text in suggested:
<option value="{{text}}"></option>
% end
</datalist>
% wrong = [problem["message"] for problem in problems if problem.get("path") == "filters"]
<fieldset id="filters">
<legend>Filters</legend>
<p class="hint">All must hold; without any, every signal counts. At most {{limits.filters}}.</p>
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% for n, one in enumerate(values.filters):
% at = "filters.%d" % n
<fieldset id="{{at}}">
<legend>Filter {{n + 1}}</legend>
<div class="fields">
% include("partials/field.tpl", name=at + ".path", label="Path", value=one["path"], list="suggested", required=True, hint="Such as status, data.key or alerts[*].labels.severity, where * stands for any.")
% include("partials/select.tpl", name=at + ".operator", label="Comparison", value=one["operator"], choices=operators)
% include("partials/textarea.tpl", name=at + ".values", label="Values", value=one["values"], rows=min(10, max(2, one["values"].count("\n") + 2)), hint="One on each line. Numbers, dates, versions and patterns: just one. “Is there” needs none.")
% include("partials/select.tpl", name=at + ".group", label="Role", value=one["group"], choices=[("", "must hold"), *[(letter, "alternative in group " + letter) for letter in letters]], hint="Of a group one is enough.")
</div>
% include("partials/check.tpl", name=at + ".inverted", label="Turn it around: holds for all other values", checked=one["inverted"])
% include("partials/check.tpl", name=at + ".caseInsensitive", label="Take upper and lower case as the same", checked=one["caseInsensitive"])
<p class="actions"><button class="quiet" name="do" value="remove-{{at}}" formaction="{{action}}#filters" formnovalidate>Remove filter {{n + 1}}</button></p>
</fieldset>
% end
% if values.filters:
<p class="hint">A signal that lacks the path matches nothing, turned around or not; only “is there” asks about that.</p>
% end
% if len(values.filters) < limits.filters:
<p class="actions"><button class="quiet" name="do" value="add-filters" formaction="{{action}}#filters.{{len(values.filters)}}" formnovalidate>Add a filter</button></p>
% end
</fieldset>
</fieldset>
