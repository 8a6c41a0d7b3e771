% rebase("layout.tpl", title=title, live=False)
<h1>Delete user <bdi>{{user["username"] or user["email"]}}</bdi>?</h1>
% include("partials/problems.tpl")
<p>The user's sessions and personal tokens end at once. What the user did stays in the events. This can't be undone.</p>
<form method="post" action="{{url('/admin/users/%d/delete' % user['id'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete user</button>
<a href="{{url('/admin/users')}}">Cancel</a>
</form>
