// Redirects an anchor that has left the page to its new place.
{
  const follow = () => {
    const place = document.getElementById(location.hash.slice(1));
    if (place?.matches(".moved a")) location.replace(place.href);
  };
  addEventListener("hashchange", follow);
  follow();
}
