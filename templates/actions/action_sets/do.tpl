<fieldset id="do">
<legend>Do these</legend>
% gone = [(values.actor, "a deleted account")] if values.actor and values.actor not in dict(accounts) else []
% include("partials/select.tpl", name="actor", label="As the service account", value=values.actor, choices=[("", "choose …"), *accounts, *gone], hint="Its name stands in the flags' history. It needs the role Editor or Admin.")
<p><a href="{{url('/admin/service-accounts/new')}}">Create a service account</a></p>
% wrong = [problem["message"] for problem in problems if problem.get("path") == "actions"]
<div id="actions">
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% for n, one in enumerate(values.actions):
% at = "actions.%d" % n
% kind = kinds.get(one["action"])
<fieldset id="{{at}}">
<legend>Action {{n + 1}}</legend>
<input type="hidden" name="{{at}}.shown" value="{{one["action"]}}">
<div class="actions">
% include("partials/select.tpl", name=at + ".action", label="What", value=one["action"], choices=[(name, found["label"]) for name, found in kinds.items()], hint=kind["description"] if kind else "")
<button class="quiet" name="do" value="kind" formaction="{{action}}#{{at}}" formnovalidate>Show the fields<span class="hidden"> of action {{n + 1}}</span></button>
</div>
<div class="fields">
% for parameter in (kind["parameters"] if kind else []):
% if parameter["type"] != "hidden":
% include("actions/action_sets/parameter.tpl", name="%s.params.%s" % (at, parameter["name"]), parameter=parameter, value=one["params"].get(parameter["name"], ""))
% end
% end
</div>
<p class="actions">
% if n:
<button class="quiet" name="do" value="up-{{at}}" formaction="{{action}}#actions" formnovalidate>Move action {{n + 1}} up</button>
% end
<button class="quiet" name="do" value="remove-{{at}}" formaction="{{action}}#actions" formnovalidate>Remove action {{n + 1}}</button>
</p>
</fieldset>
% end
% if len(values.actions) < limits.actions:
<p class="actions"><button class="quiet" name="do" value="add-actions" formaction="{{action}}#actions.{{len(values.actions)}}" formnovalidate>Add an action</button></p>
% end
</div>
</fieldset>
