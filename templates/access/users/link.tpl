% rebase("layout.tpl", title=title, live=False)
<h1><bdi>{{title}}</bdi></h1>
<p class="notice">Copy this link now. You won't be able to see it again. Anyone with the link can set this user's password, once, within 24 hours.</p>
% include("partials/copy_field.tpl", field=link)
% if mail_state:
<p>{{mail_state}}</p>
% end
<p class="actions"><a class="button" href="{{url('/admin/users')}}">Done</a></p>
