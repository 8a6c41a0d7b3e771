<time datetime="{{format_iso(at)}}" title="{{readable(at)}}">{{format_age(at)}}</time>
