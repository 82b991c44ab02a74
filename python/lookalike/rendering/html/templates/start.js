// The page of one pair begins as soon as it is there.
begin();
