<section id="releases" {{"data-live" if is_live else ""}}>
<h2>{{heading}}</h2>
<ul class="rows release-rows">
% for release in releases:
% include("releases/row.tpl", release=release)
% end
</ul>
% if more_path:
<p><a href="{{url(more_path)}}">{{more_label}}</a></p>
% end
</section>
