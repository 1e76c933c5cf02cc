"""What results say: records, arithmetic, and the reader of results folders. No torch, no matplotlib, no print."""
