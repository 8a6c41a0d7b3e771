% rebase("layout.tpl", title=title, live=False)
% include("signals/signal_endpoints/heading.tpl")
% include("partials/problems.tpl")
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<details id="options" class="options" {{"open" if are_options_open else ""}}>
<summary>Options: rate limit, repeated deliveries, summary, credentials</summary>
% for group in option_groups:
<fieldset>
<legend>{{group.legend}}</legend>
% include("partials/form_fields.tpl", fields=group.fields)
</fieldset>
% end
</details>
<button>Save</button>
</form>
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/signals', endpoint['id'], 'delete')}}">Delete signal endpoint …</a></p>
</section>
