% rebase("layout.tpl", title=title, live=False)
% silence = endpoint["silence"]
% include("signals/signal_endpoints/heading.tpl")
<p class="hint">An endpoint that expects signals is late, then down, when none arrives in time. Action sets with the template “Silence of the endpoint” run when it is down.</p>
% if silence:
<dl>
% for label, name in (("Last signal", "lastSignalAt"), ("Expected", "expectedAt"), ("Down", "downAt"), ("State since", "since")):
<div><dt>{{label}}</dt><dd>
% if silence[name]:
<time datetime="{{silence[name]}}">{{silence[name][:19].replace("T", " ")}} UTC</time>
% else:
–
% end
</dd></div>
% end
</dl>
% end
% include("partials/problems.tpl")
% action = url("/admin/signals", endpoint["id"], "silence")
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% include("partials/form_field.tpl", field=schedule)
<div class="fields">
% include("partials/form_fields.tpl", fields=fields)
</div>
<button>Save rule</button>
</form>
