% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/signals/%d' % endpoint['id'])}}">{{endpoint["name"]}}</a></p>
<h1>Send a test signal to {{endpoint["name"]}}</h1>
<p class="hint">Matching action sets will run.</p>
% include("partials/problems.tpl")
% if triggered_sets:
<p>These listen:</p>
% include("actions/action_sets/triggered_sets.tpl")
% end
<form method="post" action="{{url('/admin/signals/%d/send' % endpoint['id'])}}">
% include("partials/csrf.tpl")
% include("partials/textarea.tpl", name="payload", label="Payload", value=text, rows=12, hint="Any JSON.")
<p class="actions">
<button>Send test signal</button>
<a href="{{url('/admin/signals/%d/log' % endpoint['id'])}}">Cancel</a>
</p>
</form>
