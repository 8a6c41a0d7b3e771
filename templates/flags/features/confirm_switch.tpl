% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
<p>This is a production environment. SDKs get the change at once.</p>
<form method="post" action="{{url(path)}}" class="actions">
% include("partials/csrf.tpl")
<input type="hidden" name="confirmed" value="on">
% if back is not None:
<input type="hidden" name="back" value="{{back}}">
% end
<button>{{button}}</button>
<a href="{{url(cancel_path)}}">Cancel</a>
</form>
