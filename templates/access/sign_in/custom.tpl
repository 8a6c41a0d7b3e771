% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign in</h1>
% if custom and custom.path:
<p><a class="button" href="{{url(custom.path)}}?next={{next_query}}">{{custom.label or "Sign in"}}</a></p>
% elif custom:
<p>Authentication is handled by your reverse proxy. Open the app through it to sign in.</p>
% else:
<p>Sign-in is not configured: the authentication type is custom, and there is no handler. See the documentation to configure it.</p>
% end
</div>
