% wrong = [problem["message"] for problem in problems if problem.get("path") == "notifications"]
<fieldset id="notifications">
<legend>Tell people</legend>
<p class="hint">Optional: whom a run is told. An address that is stored is shown without what is secret in it; left as it is, it stays.</p>
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% for n, one in enumerate(values.notifications):
% at = "notifications.%d" % n
% problem = [found["message"] for found in problems if found.get("path") == at + ".on"]
<fieldset id="{{at}}">
<legend>Notification {{n + 1}}</legend>
<div class="fields">
% include("partials/select.tpl", name=at + ".type", label="By", value=one["type"], choices=[("apprise", "chat, mail or pager (Apprise)"), ("webhook", "webhook, signed")])
% include("partials/field.tpl", name=at + ".url", label="Address", value=one["url"], required=True, hint="Such as slack://token/…, mailto://… or https://example.com/hook.")
% include("partials/field.tpl", name=at + ".secret", label="Secret of the webhook", value=one["secret"], hint="Signs the message (Standard Webhooks).")
</div>
<fieldset id="{{at}}.on">
<legend>When<span class="hidden"> notification {{n + 1}} is sent</span></legend>
% if problem:
<p class="wrong">{{" ".join(problem)}}</p>
% end
% for event, label in (("success", "a run is done"), ("failed", "a run failed"), ("suppressed", "a run was suppressed")):
% include("partials/check.tpl", name="%s.on.%s" % (at, event), label=label, checked=event in one["on"])
% end
</fieldset>
<p class="actions"><button class="quiet" name="do" value="remove-{{at}}" formaction="{{action}}#notifications" formnovalidate>Remove notification {{n + 1}}</button></p>
</fieldset>
% end
<p class="actions"><button class="quiet" name="do" value="add-notifications" formaction="{{action}}#notifications.{{len(values.notifications)}}" formnovalidate>Add a notification</button></p>
</fieldset>
