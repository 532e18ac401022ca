import type { PageData } from "./data";

/** The data of the page: JSON, packed by the host as zlib in base64. */
export async function unpack(text: string): Promise<PageData> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).json()) as PageData;
}
