% rebase("layout.tpl", title=title, live=False)
<h1>Delete user <bdi>{{login}}</bdi>?</h1>
% include("partials/problems.tpl")
<p>The user is signed out and the user's personal tokens stop working immediately. Events are kept. This can't be undone.</p>
<form method="post" action="{{url('/admin/users', user['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete user</button>
<a href="{{url('/admin/users')}}">Cancel</a>
</form>
