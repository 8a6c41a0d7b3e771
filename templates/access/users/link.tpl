% rebase("layout.tpl", title=title, live=False)
<h1>Password link for <bdi>{{user["username"] or user["email"]}}</bdi></h1>
<p class="notice">Copy it now: it is shown this once and never again. Whoever has it can set this user's password, once, within 24 hours.</p>
<div class="field">
<label for="link">Link</label>
% include("partials/copy.tpl", id="link", value=link, label="Link")
</div>
% if is_mailed:
<p>A mail with a link of its own is on its way to <bdi>{{user["email"]}}</bdi>.</p>
% elif is_mailed is not None:
<p>No mail was sent: hand the link over yourself.</p>
% end
<p class="actions"><a class="button" href="{{url('/admin/users')}}">Users</a></p>
