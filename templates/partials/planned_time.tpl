<time datetime="{{format_iso(at)}}" title="{{plan}}" data-local>{{plan}}</time> ({{format_age(at)}})\\
