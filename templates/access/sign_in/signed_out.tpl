% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>You have signed out.</h1>
<p><a class="button" href="{{next_url}}">Continue</a></p>
</div>
