% def print_header():
<header id="menu" tabindex="-1">
<a class="brand" href="{{url('/')}}">sigservice</a>
% if ui.get("environment"):
<span class="tag">{{ui["environment"]}}</span>
% end
% if frame:
% include("partials/nav.tpl")
% if choices_of_projects:
% include("partials/projects.tpl", projects=choices_of_projects)
% end
% end
</header>
% end
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{title}} – sigservice</title>
<link rel="expect" href="#end" blocking="render">
<link rel="stylesheet" href="{{static('app.css')}}">
<link rel="icon" href="{{static('favicon.svg')}}" type="image/svg+xml">
<script type="module" src="{{static('app.js')}}"></script>
% if live:
<noscript><meta http-equiv="refresh" content="10"></noscript>
% end
</head>
<body {{"class=signed-in" if frame else ""}}>
<a class="skip" href="#main">Skip to content</a>
% if frame:
<a class="to-menu" href="#menu">Skip to menu</a>
% end
% if identity and identity.session_hash:
<form method="post" action="{{url('/logout')}}" id="sign-out" hidden>
% include("partials/csrf.tpl")
</form>
% end
% if not frame:
% print_header()
% end
<main id="main" tabindex="-1" {{"class=settings" if frame and frame.has_settings else ""}}>
% if frame and frame.has_settings:
<nav class="parts" aria-label="Settings">
% include("partials/places.tpl", places=frame.parts)
</nav>
% end
% if breadcrumbs:
<nav class="breadcrumbs" aria-label="Breadcrumb">
<ol>
% for label, path in breadcrumbs:
<li><a href="{{url(path)}}">{{label}}</a></li>
% end
</ol>
</nav>
% end
% if frame and identity.default_password_works:
<p class="problem" role="alert">The default admin password still works, and it is public. \\
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/users')}}">Change it now.</a>\\
% else:
Tell an admin.\\
% end
</p>
% end
% if authentication.banner:
<p class="problem" role="alert">{{authentication.banner}}</p>
% end
% if identity and (emergency.frozen or emergency.paused):
% include("releases/emergency_banner.tpl")
% end
% if notice:
% include("partials/notice.tpl")
% end
% before, end, after = base.partition("</h1>")
{{!before}}{{!end}}
% if frame and frame.parts and not frame.has_settings:
<nav class="tabs" aria-label="{{frame.section}}">
% include("partials/places.tpl", places=frame.parts)
</nav>
% end
{{!after}}
</main>
% if frame:
% print_header()
% end
<footer>
% if ui.get("slogan"):
<p>{{ui["slogan"]}}</p>
% end
% if newer_version:
<p>Version {{newer_version}} is available.</p>
% end
<p>sigservice {{version()}}\\
% if frame:
 – <a href="{{url('/docs/guide')}}">Guide</a> – <a href="{{url('/docs')}}">API</a>\\
% end
</p></footer>
<div id="end" hidden></div>
</body>
</html>
