% rebase("layout.tpl", title=title, live=False)
<h1>Send a test signal to {{endpoint["name"]}}</h1>
<p class="hint">Matching action sets will run.</p>
% include("partials/problems.tpl")
% if triggered_sets:
<p>Action sets triggered by this endpoint:</p>
% include("actions/action_sets/triggered_sets.tpl")
% end
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<p class="actions">
<button>Send test signal</button>
<a href="{{url('/admin/signals', endpoint['id'], 'setup')}}">Cancel</a>
</p>
</form>
