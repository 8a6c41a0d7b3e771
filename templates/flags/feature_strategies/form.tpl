% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url(path)}}">{{place.feature}}</a> in {{place.environment}}</p>
<h1>{{heading}}</h1>
% include("partials/problems.tpl")
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="shown_type" value="{{values.type}}">
<div class="actions">
% include("partials/select.tpl", name="name", label="Who gets the flag", value=values.type, choices=types)
<button class="quiet" name="do" value="type" formaction="{{action}}" formnovalidate>Use this type</button>
</div>
% if parameters:
<fieldset>
<legend>How</legend>
<div class="fields">
% for parameter in parameters:
% include("flags/feature_strategies/parameter.tpl", parameter=parameter, value=values.parameters.get(parameter["name"], ""), name=parameter_field(parameter["name"]))
% end
</div>
</fieldset>
% end
% include("partials/constraints.tpl", constraints_hint="Who is let in must also be like this.")
% wrong = [problem["message"] for problem in problems if problem.get("path") == "segments"]
<fieldset id="segments">
<legend>Segments</legend>
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% if segments:
<p class="hint">At most {{segment_limit}}. Who is let in must be in all of them.</p>
% for segment in segments:
% if segment["project"] in (None, place.project) or segment["id"] in values.segments:
<div class="check">
<input type="checkbox" id="segments.{{segment['id']}}" name="segments.{{segment['id']}}" value="on" {{"checked" if segment["id"] in values.segments else ""}}>
<label for="segments.{{segment['id']}}"><bdi>{{segment["name"]}}</bdi></label>
% if segment["description"]:
<span class="hint">{{segment["description"]}}</span>
% end
</div>
% end
% end
% else:
<p class="hint">There is none yet. A segment is a group of users, such as beta testers, described once and used by many strategies.</p>
% end
</fieldset>
% include("flags/feature_strategies/variants.tpl")
<fieldset>
<legend>This strategy</legend>
% include("partials/field.tpl", name="title", label="Title", value=values.title, hint="Optional: what it is for.")
% include("partials/check.tpl", name="disabled", label="Leave it out for now", checked=values.disabled)
</fieldset>
<p class="actions">
<button>Save strategy</button>
<a href="{{url(path)}}">Cancel</a>
</p>
</form>
