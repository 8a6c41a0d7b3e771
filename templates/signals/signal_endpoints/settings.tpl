% rebase("layout.tpl", title=title, live=False)
% include("signals/signal_endpoints/heading.tpl")
% include("partials/problems.tpl")
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
% include("signals/signal_endpoints/options.tpl")
<button>Save</button>
</form>
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/signals', endpoint['id'], 'delete')}}">Delete signal endpoint …</a></p>
</section>
