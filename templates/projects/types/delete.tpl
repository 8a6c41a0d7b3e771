% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
<p>{{text}}</p>
<form method="post" action="{{url(action)}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete</button>
<a href="{{url(cancel_path)}}">Cancel</a>
</form>
