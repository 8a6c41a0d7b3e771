% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign in</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
% if authentication.takes_email:
<p>Demo mode: enter any email to continue. Data here is not protected.</p>
% end
<form method="post" action="{{url('/sign-in')}}">
<input type="hidden" name="csrf" value="{{form_token}}">
<input type="hidden" name="next" value="{{next_path}}">
% include("partials/form_fields.tpl")
<button>Sign in</button>
</form>
% if authentication.has_passwords:
<p><a href="{{url('/forgot-password')}}">Forgot your password?</a></p>
% end
</div>
