// An anchor that has left the page leads on to where it stands now.
{
  const follow = () => {
    const place = document.getElementById(location.hash.slice(1));
    if (place?.matches(".moved a")) location.replace(place.href);
  };
  addEventListener("hashchange", follow);
  follow();
}
