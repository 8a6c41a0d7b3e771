% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign in</h1>
% if custom and custom.path:
<p><a class="button" href="{{url(custom.path)}}?next={{next_query}}">{{custom.label or "Sign in"}}</a></p>
% elif custom:
<p>You are not signed in. This service takes your name from what stands in front of it; come in that way.</p>
% else:
<p>Signing in is not set up: the authentication type is custom, and there is no handler. Whoever runs this service finds it in its documentation.</p>
% end
</div>
