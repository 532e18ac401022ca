-- The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only.
module Kit.Wire (Value (..), Stop (..), stop, limit, Descriptor, put, putSamples, exitAtOnce) where

import Control.Exception (Exception, throwIO)
import Control.Monad (forM_, when)
import Data.List (intersperse)
import Foreign (Ptr, plusPtr)
import Foreign.C (CChar, CInt (..), CSize (..), withCStringLen)
import Text.Printf (printf)

data Value = N Int | T String | B Bool | Null | L [Value] | O [(String, Value)]

encode :: Value -> ShowS
encode (N number) = shows number
encode (T text) = showChar '"' . flip (foldr escaped) text . showChar '"'
encode (B truth) = showString (if truth then "true" else "false")
encode Null = showString "null"
encode (L values) = showChar '[' . joined (map encode values) . showChar ']'
encode (O pairs) = showChar '{' . joined [encode (T key) . showChar ':' . encode it | (key, it) <- pairs] . showChar '}'

joined :: [ShowS] -> ShowS
joined = foldr (.) id . intersperse (showChar ',')

escaped :: Char -> ShowS
escaped c = if c < ' ' || c > '~' || c `elem` "\"\\" then showString (printf "\\u%04x" (fromEnum c)) else showChar c

-- Status, code and detail of the `end` message. refused: the plan is bad. unsupported: this machine cannot carry it
-- out. failed: something broke.
data Stop = Stop String String String deriving (Show)

instance Exception Stop

stop :: String -> String -> String -> IO a
stop status code detail = throwIO (Stop status code detail)

limit :: String -> IO a
limit why = stop "unsupported" "limit_reached" (why ++ "; ask for fewer")

type Descriptor = CInt

foreign import ccall "write" write :: CInt -> Ptr CChar -> CSize -> IO Int
foreign import ccall "_exit" exitAtOnce :: CInt -> IO ()

put :: Descriptor -> String -> [(String, Value)] -> IO ()
put descriptor kind fields = withCStringLen (encode (O (("t", T kind) : fields)) "\n") (uncurry send)
 where
  -- A host that no longer listens is the end of the run: nothing could be reported about it.
  send begin left = when (left > 0) $ do
    written <- write descriptor begin (fromIntegral left)
    if written < 0 then exitAtOnce 1 else send (begin `plusPtr` written) (left - written)

-- As many messages as the batches of a phase take, from this number on. Batches: ticks, chain, width. A line stays
-- below 65,536 bytes even if every number of it had 20 digits.
putSamples :: Descriptor -> String -> Int -> Int -> [[Int]] -> IO ()
putSamples descriptor phase units next batches = forM_ (zip [next ..] parts) $ \(number, part) -> do
  let list i = L (map (N . (!! i)) part)
      rulers = ("rulers", O [("chain", list 1), ("width", list 2)])
  put descriptor "samples" [rulers, ("phase", T phase), ("seq", N number), ("units", N units), ("ticks", list 0)]
 where
  parts = takeWhile (not . null) (map (take 1000) (iterate (drop 1000) batches))
